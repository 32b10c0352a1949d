################################################################################
#
# opensmtpd
#
################################################################################

# SPDX-License-Identifier: GPL-2.0-or-later

OPENSMTPD_VERSION = 7.6.0p1
OPENSMTPD_SITE = https://www.opensmtpd.org/archives
OPENSMTPD_LICENSE = ISC, BSD-2-Clause, BSD-3-Clause, BSD-4-Clause
OPENSMTPD_LICENSE_FILES = LICENSE
OPENSMTPD_DEPENDENCIES = libevent libxcrypt openssl zlib

# its libtool is a distribution's own, which Buildroot's patch does not fit; nothing here links with a library of it
OPENSMTPD_LIBTOOL_PATCH = NO

# users and folders as in Debian's package, which the guest's files are written for
OPENSMTPD_CONF_OPTS = \
	--with-user-smtpd=opensmtpd \
	--with-user-queue=opensmtpq \
	--with-group-queue=opensmtpq \
	--with-path-empty=/var/lib/opensmtpd/empty \
	--with-path-mbox=/var/mail \
	--with-path-CAfile=/etc/ssl/certs/ca-certificates.crt

$(eval $(autotools-package))
