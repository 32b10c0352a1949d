################################################################################
#
# s80lab-guest
#
################################################################################

# SPDX-License-Identifier: GPL-2.0-or-later

S80LAB_GUEST_VERSION = local
S80LAB_GUEST_SITE = $(BR2_EXTERNAL_S80LAB_PATH)/../../workloads
S80LAB_GUEST_SITE_METHOD = local
S80LAB_GUEST_LICENSE = GPL-2.0+
S80LAB_GUEST_LICENSE_FILES = LICENSE
S80LAB_GUEST_DEPENDENCIES = openssl
S80LAB_GUEST_CONF_OPTS = -DBUILD_TESTING=OFF

# the licence lies beside the sources that are copied, not among them
define S80LAB_GUEST_COPY_LICENSE
	cp $(S80LAB_GUEST_SITE)/../LICENSE $(@D)/LICENSE
endef
S80LAB_GUEST_POST_RSYNC_HOOKS += S80LAB_GUEST_COPY_LICENSE

$(eval $(cmake-package))
