# SPDX-License-Identifier: GPL-2.0-or-later
# s80-rtp-server, with media of two rates for each user: those of 300 kbit/s are as large as the user's mail would be.
. /usr/lib/s80lab/rtp.conf

RTP_LOG=/run/rtp.log
MEDIA=/var/mail-store

server_start() {
    seconds=$(($(parameter mailboxes 6) * $(parameter mailbox_kib 64) * 1024 * 8 / 300000))
    s80-media --root $MEDIA --users "$(parameter users 4)" --seconds $seconds --rates 56,300 \
        || fail "the media could not be written"
    settle_storage
    start_server s80-rtp-server $RTP_LOG s80-rtp-server --listen 127.0.0.1:554 --root $MEDIA --buffers "$BUFFERS"
    await 30 "s80-rtp-server (port 554)" $RTP_LOG listens 554
}
