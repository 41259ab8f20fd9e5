"""The system calls that a command in the sandbox is refused, as a filter for the kernel.

A program needs none of them to be built or tested; each is a way to more privileges, or to memory that no limit counts.
The filter is classic BPF over ``struct seccomp_data``, as in Linux's Documentation/userspace-api/seccomp_filter.rst.
"""

from __future__ import annotations

import platform
import struct

_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_EPERM, _ENOSYS = 0x00050001, 0x00050026
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06

# Numbers from arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.
_REFUSED = {
    "x86_64": {
        "ptrace": 101, "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "swapon": 167, "reboot": 169,
        "init_module": 175, "add_key": 248, "request_key": 249, "keyctl": 250, "unshare": 272, "move_pages": 279,
        "perf_event_open": 298, "name_to_handle_at": 303, "open_by_handle_at": 304, "setns": 308,
        "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "finit_module": 313, "memfd_create": 319,
        "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323, "shmget": 29, "shmat": 30, "personality": 135,
        "io_uring_setup": 425, "io_uring_enter": 426, "open_tree": 428, "move_mount": 429, "fsopen": 430,
        "fsmount": 432, "pidfd_getfd": 438, "mount_setattr": 442, "memfd_secret": 447,
    },
    "aarch64": {
        "ptrace": 117, "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51, "swapon": 224, "reboot": 142,
        "init_module": 105, "add_key": 217, "request_key": 218, "keyctl": 219, "unshare": 97, "move_pages": 239,
        "perf_event_open": 241, "name_to_handle_at": 264, "open_by_handle_at": 265, "setns": 268,
        "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "finit_module": 273, "memfd_create": 279,
        "kexec_file_load": 294, "bpf": 280, "userfaultfd": 282, "shmget": 194, "shmat": 196, "personality": 92,
        "io_uring_setup": 425, "io_uring_enter": 426, "open_tree": 428, "move_mount": 429, "fsopen": 430,
        "fsmount": 432, "pidfd_getfd": 438, "mount_setattr": 442, "memfd_secret": 447,
    },
}  # fmt: skip
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE3 = 435
_NEW_USER_NAMESPACE = 0x10000000
_X32 = 0x40000000


def seccomp_filter(machine: str | None = None) -> bytes | None:
    """The filter for this machine's processor, as an array of ``struct sock_filter``; None where none is written."""
    machine = machine or platform.machine()
    refused = _REFUSED.get(machine)
    if refused is None:
        return None
    program = [
        _step(_LOAD, 4),
        _step(_EQUAL, _ARCHITECTURE[machine], yes=1),
        _step(_RETURN, _KILL),
        _step(_LOAD, 0),
    ]
    if machine == "x86_64":
        program += [_step(_AT_LEAST, _X32, no=1), _step(_RETURN, _EPERM)]
    # The C library falls back to clone, whose flags can be seen here, when there is no clone3.
    program += [_step(_EQUAL, _CLONE3, no=1), _step(_RETURN, _ENOSYS)]
    for number in sorted(set(refused.values())):
        program += [_step(_EQUAL, number, no=1), _step(_RETURN, _EPERM)]
    program += [
        _step(_EQUAL, _CLONE[machine], no=3),
        _step(_LOAD, 16),
        _step(_ANY_BIT, _NEW_USER_NAMESPACE, no=1),
        _step(_RETURN, _EPERM),
        _step(_RETURN, _ALLOW),
    ]
    return b"".join(program)


def _step(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)


__all__ = ["seccomp_filter"]
