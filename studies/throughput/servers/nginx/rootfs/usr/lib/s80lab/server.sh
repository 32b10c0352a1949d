# SPDX-License-Identifier: GPL-2.0-or-later
# nginx, with a process for each processor.

. /usr/lib/s80lab/webstore.sh
NGINX_LOG=/run/nginx.log

server_start() {
    build_web_store
    start_server nginx $NGINX_LOG nginx -e $NGINX_LOG -c /etc/nginx/nginx.conf -g "worker_processes $cpus;"
    await 30 "nginx (port 80)" $NGINX_LOG listens 80
}
