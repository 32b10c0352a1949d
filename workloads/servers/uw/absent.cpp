// SPDX-License-Identifier: GPL-2.0-or-later
// Stubs for functions to which c-client's object for the operating system refers, but which no program here
// calls: PAM, GSSAPI and Kerberos. Debian does not have all of these libraries as static ones. With the
// stubs the programs need no library in the guest.
#include <cstdio>
#include <cstdlib>

#define S80_ABSENT(name)                                                       \
    void name() {                                                              \
        std::fputs("s80-uw: " #name " is not part of this program\n", stderr); \
        std::abort();                                                          \
    }

extern "C" {
S80_ABSENT(gss_accept_sec_context)
S80_ABSENT(gss_acquire_cred)
S80_ABSENT(gss_delete_sec_context)
S80_ABSENT(gss_display_name)
S80_ABSENT(gss_display_status)
S80_ABSENT(gss_import_name)
S80_ABSENT(gss_init_sec_context)
S80_ABSENT(gss_release_buffer)
S80_ABSENT(gss_release_cred)
S80_ABSENT(gss_release_name)
S80_ABSENT(gss_unwrap)
S80_ABSENT(gss_wrap)
S80_ABSENT(krb5_aname_to_localname)
S80_ABSENT(krb5_free_context)
S80_ABSENT(krb5_free_principal)
S80_ABSENT(krb5_init_context)
S80_ABSENT(krb5_kt_close)
S80_ABSENT(krb5_kt_default)
S80_ABSENT(krb5_kt_end_seq_get)
S80_ABSENT(krb5_kt_start_seq_get)
S80_ABSENT(krb5_parse_name)
S80_ABSENT(pam_acct_mgmt)
S80_ABSENT(pam_authenticate)
S80_ABSENT(pam_end)
S80_ABSENT(pam_set_item)
S80_ABSENT(pam_setcred)
S80_ABSENT(pam_start)

extern void* gss_nt_service_name;
void* gss_nt_service_name = nullptr;
}
