// SPDX-License-Identifier: GPL-2.0-or-later
// Declares the part of QEMU's TCG plugin interface that this plugin uses (version 4 of the interface: QEMU
// 9.2 and later). The declarations are here because no Debian package has a header with them. QEMU and the
// plugin compare the versions when the plugin is loaded.
#pragma once
#include <cstddef>
#include <cstdint>

extern "C" {

using qemu_plugin_id_t = std::uint64_t;
using qemu_plugin_meminfo_t = std::uint32_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;
struct qemu_plugin_register;

struct qemu_info_t {
    const char* target_name;
    struct {
        int min;
        int cur;
    } version;
    bool system_emulation;
    struct {
        int smp_vcpus;
        int max_vcpus;
    } system;
};

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_CB_R_REGS, QEMU_PLUGIN_CB_RW_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

struct qemu_plugin_mem_value {
    int type;
    union {
        std::uint32_t u32;
        std::uint64_t u64;
        struct {
            std::uint64_t low;
            std::uint64_t high;
        } u128;
    } data;
};

struct qemu_plugin_reg_descriptor {
    qemu_plugin_register* handle;
    const char* name;
    const char* feature;
};

// Types of GLib, in which QEMU returns the list of registers and a register's value. QEMU is linked with
// GLib.
struct GArray {
    char* data;
    unsigned len;
};
struct GByteArray {
    std::uint8_t* data;
    unsigned len;
};
GByteArray* g_byte_array_new();
GByteArray* g_byte_array_set_size(GByteArray* array, unsigned length);

using qemu_plugin_udata_cb_t = void (*)(qemu_plugin_id_t, void*);
using qemu_plugin_simple_cb_t = void (*)(qemu_plugin_id_t);
using qemu_plugin_vcpu_udata_cb_t = void (*)(unsigned, void*);
using qemu_plugin_vcpu_mem_cb_t = void (*)(unsigned, qemu_plugin_meminfo_t, std::uint64_t, void*);
using qemu_plugin_vcpu_tb_trans_cb_t = void (*)(qemu_plugin_id_t, qemu_plugin_tb*);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, qemu_plugin_vcpu_tb_trans_cb_t);
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb*, qemu_plugin_vcpu_udata_cb_t, qemu_plugin_cb_flags,
                                          void*);
void qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_insn*, qemu_plugin_vcpu_udata_cb_t,
                                            qemu_plugin_cb_flags, void*);
void qemu_plugin_register_vcpu_mem_cb(qemu_plugin_insn*, qemu_plugin_vcpu_mem_cb_t, qemu_plugin_cb_flags,
                                      qemu_plugin_mem_rw, void*);
void qemu_plugin_register_flush_cb(qemu_plugin_id_t, qemu_plugin_simple_cb_t);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, qemu_plugin_udata_cb_t, void*);

std::size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb*);
std::uint64_t qemu_plugin_tb_vaddr(const qemu_plugin_tb*);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb*, std::size_t);
std::size_t qemu_plugin_insn_data(const qemu_plugin_insn*, void*, std::size_t);
std::size_t qemu_plugin_insn_size(const qemu_plugin_insn*);
std::uint64_t qemu_plugin_insn_vaddr(const qemu_plugin_insn*);
void* qemu_plugin_insn_haddr(const qemu_plugin_insn*);

unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t);
qemu_plugin_mem_value qemu_plugin_mem_get_value(qemu_plugin_meminfo_t);
qemu_plugin_hwaddr* qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t, std::uint64_t);
bool qemu_plugin_hwaddr_is_io(const qemu_plugin_hwaddr*);
std::uint64_t qemu_plugin_hwaddr_phys_addr(const qemu_plugin_hwaddr*);

GArray* qemu_plugin_get_registers();
int qemu_plugin_read_register(qemu_plugin_register*, GByteArray*);

}  // extern "C"

namespace s80::plugin {
/// Version of the plugin interface, for `qemu_plugin_version`.
inline constexpr int kApiVersion = 4;
}  // namespace s80::plugin
