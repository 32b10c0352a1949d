# SPDX-License-Identifier: GPL-2.0-or-later
# A kernel that executes given instructions one by one (test_accesses.py). QEMU starts it with -kernel, as a flat multiboot
# image. The module given with -initrd consists of entries of 32 bytes: an instruction with bytes behind it, and a pattern
# that fills the memory that the instruction accesses. Whatever the instruction does, an exception ends it: the trap flag is
# set. After the last one, the machine resets.

    .set LOAD, 0x100000
    .set DATA, 0x2000000      # RDI; its lower 16 bits are also a null selector
    .set SOURCE, 0x2010000    # RSI
    .set STACK, 0x2020800     # RSP, RBP
    .set SLOT, 0x2030000      # the instruction
    .set TRAP_STACK, 0x2041000
    .set PAGES, 0x2050000     # the page tables: 1 GB, as it lies
    .set FILLED, 128          # words of each memory area
    .set TRAP, 0x102          # EFLAGS
    .set PROTECTED, 0x80000033  # CR0: PG, NE, ET, MP, PE

    .globl _start
    .set _start, start
header:
    .long 0x1badb002, 0x10000, -(0x1badb002 + 0x10000)
    .long header, LOAD, 0, 0, start
gdt_pointer:                  # at 32, and idt_pointer at 42: patterns of LGDT and LIDT
    .word gdt_end - gdt - 1
    .quad gdt
idt_pointer:
    .word 32 * 16 - 1
    .quad idt

    .code32
start:
    mov 24(%ebx), %esi        # the module
    mov (%esi), %eax
    mov %eax, at
    mov 4(%esi), %eax
    mov %eax, end
    movl $PAGES + 0x1003, PAGES
    movl $PAGES + 0x2003, PAGES + 0x1000
    mov $PAGES + 0x2000, %edi
    mov $0x83, %eax
1:  mov %eax, (%edi)
    add $8, %edi
    add $0x200000, %eax
    cmp $0x40000083, %eax
    jne 1b
    mov $PAGES, %eax
    mov %eax, %cr3
    mov $1, %eax
    cpuid
    mov $0x620, %eax          # CR4: OSXMMEXCPT, OSFXSR, PAE
    bt $26, %ecx
    jnc 1f
    or $0x40000, %eax         # OSXSAVE
1:  mov %eax, %cr4
    and $0x14000000, %ecx
    cmp $0x14000000, %ecx
    sete avx
    mov $0xc0000080, %ecx
    rdmsr
    or $0x100, %eax           # EFER: LME
    wrmsr
    mov $PROTECTED, %eax
    mov %eax, %cr0
    lgdt gdt_pointer
    ljmp $0x08, $long_mode

    .code64
long_mode:
    mov $0xff, %al
    out %al, $0x21            # no interrupts
    out %al, $0xa1
    cmpb $0, avx
    je 1f
    xor %ecx, %ecx
    xor %edx, %edx
    mov $7, %eax
    xsetbv
1:  mov $idt, %rdi
    mov $32, %ecx
1:  mov $failed, %eax
    cmp $31, %ecx
    jne 2f
    mov $completed, %eax      # vector 1
2:  mov %ax, (%rdi)
    movl $0x8e010008, 2(%rdi) # an interrupt gate with a stack of its own
    shr $16, %eax
    mov %ax, 6(%rdi)
    add $16, %rdi
    loop 1b

next:
    lgdt gdt_pointer
    lidt idt_pointer
    movb $0x89, tss_type      # available; LTR makes it busy
    mov $0x28, %eax
    ltr %ax
    movb $0x89, tss_type
    mov %cr0, %rax
    cmp $PROTECTED, %eax
    je 1f
    mov $PROTECTED, %eax
    mov %rax, %cr0
1:  cld
    mov at, %esi
    cmp end, %esi
    jae done
    mov $SLOT, %edi
    movsq
    movsq
    lodsq
    mov (%rsi), %rdx
    add $8, %esi
    mov %esi, at
    mov $DATA, %edi
    call fill
    mov $SOURCE, %edi
    call fill
    mov $STACK, %edi
    call fill
    fninit
    ldmxcsr quiet
    cmpb $0, avx
    je 1f
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    vpcmpeqd %xmm\n, %xmm\n, %xmm\n
    vinsertf128 $1, %xmm\n, %ymm\n, %ymm\n
    .endr
1:  .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    pcmpeqd %xmm\n, %xmm\n
    pcmpeqd %mm\n, %mm\n
    .endr
    mov $0x10, %eax           # also the selector of the data segment
    mov $1, %ecx
    xor %edx, %edx
    mov $0x28, %ebx           # also the selector of the task
    mov $SOURCE, %esi
    mov $DATA, %edi
    mov $STACK, %ebp
    mov $TRAP_STACK, %esp
    pushq $0x10
    pushq $STACK
    pushq $TRAP
    pushq $0x08
    pushq $SLOT
    iretq

fill:
    mov $FILLED / 2, %ecx
1:  mov %rax, (%rdi)
    mov %rdx, 8(%rdi)
    add $16, %rdi
    loop 1b
    ret

completed:
    nopl 0x533800fe(%rax)     # the plugin takes it for "the instruction before was completed"
failed:
    mov $TRAP_STACK - 0x800, %esp
    jmp next

done:
    lidt nowhere
    int3

    .balign 16
gdt:
    .quad 0, 0x00af9b000000ffff, 0x00cf93000000ffff, 0, 0
    .word 0x67, tss - header  # the task
    .byte LOAD >> 16
tss_type:
    .byte 0x89, 0, 0
    .quad 0
gdt_end:
nowhere:
    .word 0
    .quad 0
quiet:
    .long 0x1f80
at: .long 0
end: .long 0
avx: .byte 0
    .balign 16
tss:
    .fill 0x24, 1, 0
    .quad TRAP_STACK          # interrupt stack 1
    .fill 0x68 - 0x2c, 1, 0
idt:
    .fill 32 * 16, 1, 0

    .section .note.GNU-stack, "", @progbits
