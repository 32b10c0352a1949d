# SPDX-License-Identifier: GPL-2.0-or-later
# Apache, with a process for each user.

. /usr/lib/s80lab/webstore.sh
APACHE_LOG=/run/apache2.log
port=443 page=/usr/bin/s80-page
case $SERVER in
    *-plain) port=80 ;;
    *-lua) page=/etc/apache2/page.lua ;;
esac

server_start() {
    build_web_store
    start_server Apache $APACHE_LOG env S80_RUN=/run S80_USER=www-data S80_GROUP=www-data \
        S80_CLIENTS="$(parameter users 4)" S80_PORT=$port S80_VARIANT=/etc/apache2/variant.conf \
        S80_PAGES=/etc/apache2/pages.conf S80_PAGE=$page S80_CERT=/etc/tls S80_STORE=$WEB_STORE \
        apache2 -D FOREGROUND -f /etc/apache2/apache2.conf
    await 30 "Apache (port $port)" $APACHE_LOG listens $port
}
