// SPDX-License-Identifier: MIT
//! Runs C code under the loom model checker: `weft-loom OBJECT SCENARIO
//! [PREEMPTIONS]`.
//!
//! The C code is compiled with -DWEFT_MODEL, so that each atomic operation
//! calls one of the m_* functions below (runtime/lockfree/atomic_model.h).
//! They map the address to a loom atomic, and loom explores the interleavings
//! and the old values that C11 lets a load see.
//!
//! What loom does not do: loads never see stores of the future (no load
//! buffering), and seq_cst accesses are acquire and release only; seq_cst
//! fences are modelled. A protocol that needs the order of seq_cst accesses
//! is reported as broken: correct code can fail here, but not the reverse.
//!
//! Nor are all orders of two accesses tried: where a thread loads a word before its
//! RMW of it, loom does not see that an earlier load by another thread could come
//! behind that RMW. Which thread runs first changes what is tried. With
//! WEFT_MODEL_TURNS set, all is explored once with each thread as the first.
//!
//! WEFT_MODEL_SECONDS is the CPU time after which no execution begins any more.
//! WEFT_MODEL_TRACE=N prints what execution N does.
//!
//! Exit status: 0 the scenario holds, 1 a violation was found, 2 wrong use, 3 an
//! execution had no end within the bounds, 4 the time was over before the end.

use loom::sync::atomic::{fence, AtomicU16, AtomicU32, AtomicU64, AtomicU8, Ordering};
use loom::sync::{Condvar, Mutex};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_long, c_void, CStr, CString};
use std::rc::Rc;
use std::sync::Mutex as PlainMutex;

const THREADS: usize = 4;
const SEMAPHORES: usize = 8;

/// `struct model_scenario` of c/model.h.
#[repr(C)]
struct Scenario {
    init: Option<unsafe extern "C-unwind" fn()>,
    thread: [Option<unsafe extern "C-unwind" fn()>; THREADS],
    check: Option<unsafe extern "C-unwind" fn()>,
}

extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(object: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
    fn dladdr(p: *const c_void, found: *mut *const c_char) -> c_int;
    fn clock() -> c_long;
    fn syscall(number: c_long, ...) -> c_long;
}

/// The coroutines' stacks: where, of how many bytes, and whether in use. loom makes
/// new ones for each execution, and the calls to the kernel took a third of the time.
/// So they go through these two functions, which are here in the place of libc's.
static STACKS: PlainMutex<Vec<(usize, usize, bool)>> = PlainMutex::new(Vec::new());
const STACK_BYTES: usize = 1 << 16; // and less; libc's are larger
const MAP_STACK: c_int = 0x20000;
#[cfg(target_arch = "x86_64")]
const MMAP_MUNMAP: (c_long, c_long) = (9, 11);
#[cfg(any(target_arch = "aarch64", target_arch = "riscv64"))]
const MMAP_MUNMAP: (c_long, c_long) = (222, 215);

#[no_mangle]
extern "C" fn mmap(
    at: usize,
    bytes: usize,
    access: c_int,
    flags: c_int,
    file: c_int,
    offset: c_long,
) -> usize {
    let is_one = flags & MAP_STACK != 0 && bytes <= STACK_BYTES;
    let mut stacks = STACKS.lock().unwrap();
    if is_one {
        if let Some(s) = stacks.iter_mut().find(|s| s.1 == bytes && !s.2) {
            s.2 = true;
            return s.0;
        }
    }
    let p = unsafe { syscall(MMAP_MUNMAP.0, at, bytes, access, flags, file, offset) };
    if is_one && p != -1 {
        stacks.push((p as usize, bytes, true));
    }
    p as usize
}

#[no_mangle]
extern "C" fn munmap(at: usize, bytes: usize) -> c_int {
    let mut stacks = STACKS.lock().unwrap();
    if let Some(s) = stacks.iter_mut().find(|s| s.0 == at && s.1 == bytes) {
        s.2 = false;
        return 0;
    }
    unsafe { syscall(MMAP_MUNMAP.1, at, bytes) as c_int }
}

/// An atomic object of the C code.
enum Object {
    Bytes1(AtomicU8),
    Bytes2(AtomicU16),
    Bytes4(AtomicU32),
    Bytes8(AtomicU64),
}

/// The same for each size: `a` is the atomic, `T` the type of its values.
macro_rules! with_size {
    ($cell:expr, $a:ident, $T:ident, $body:expr) => {
        match &*$cell {
            Object::Bytes1($a) => {
                type $T = u8;
                $body
            }
            Object::Bytes2($a) => {
                type $T = u16;
                $body
            }
            Object::Bytes4($a) => {
                type $T = u32;
                $body
            }
            Object::Bytes8($a) => {
                type $T = u64;
                $body
            }
        }
    };
}

/// What stands behind the addresses, in one execution.
#[derive(Default)]
struct Memory {
    atomics: HashMap<usize, Rc<Object>>,
    data: HashMap<usize, Rc<loom::cell::UnsafeCell<()>>>,
    semaphores: Vec<Rc<(Mutex<bool>, Condvar)>>,
}

// loom runs all its threads as coroutines on this one kernel thread.
thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::new(Memory::default());
    static STARTED: Cell<bool> = const { Cell::new(false) };
    static EXECUTIONS: Cell<u64> = const { Cell::new(0) };
    static FIRST: Cell<usize> = const { Cell::new(0) };
    static TRACED: Cell<u64> = const { Cell::new(0) };
    static UNTIL: Cell<c_long> = const { Cell::new(c_long::MAX) };
}

// This one is each loom thread's own.
loom::thread_local! {
    static WHO: Cell<c_int> = Cell::new(0);
}

/// The place is in the scenario's object: nm and addr2line know it.
fn trace(what: &str, p: usize, o: c_int, v: u64) {
    if TRACED.get() != EXECUTIONS.get() {
        return;
    }
    let mut found = [std::ptr::null::<c_char>(); 4]; // Dl_info
    unsafe { dladdr(p as *const c_void, found.as_mut_ptr()) };
    let p = p.wrapping_sub(found[1] as usize);
    eprintln!("{} {what:6} {p:6x} {:?} {v:x}", m_self(), order(o));
}

fn make(size: c_int) -> Object {
    match size {
        1 => Object::Bytes1(AtomicU8::new(0)),
        2 => Object::Bytes2(AtomicU16::new(0)),
        4 => Object::Bytes4(AtomicU32::new(0)),
        8 => Object::Bytes8(AtomicU64::new(0)),
        _ => panic!("an atomic of {size} bytes"),
    }
}

/// An object is made in init, or by the first store to it. loom takes its making for
/// a plain write: a thread that finds an object on another's stack without an order
/// between the two is a violation.
fn atomic(p: usize, size: c_int, may_make: bool) -> Rc<Object> {
    MEMORY.with(|m| {
        let mut m = m.borrow_mut();
        if !m.atomics.contains_key(&p) {
            assert!(may_make || !STARTED.get(), "an atomic that nothing was stored to");
            m.atomics.insert(p, Rc::new(make(size)));
        }
        m.atomics[&p].clone()
    })
}

fn data(p: usize, may_make: bool) -> Rc<loom::cell::UnsafeCell<()>> {
    MEMORY.with(|m| {
        let mut m = m.borrow_mut();
        if !m.data.contains_key(&p) {
            assert!(may_make || !STARTED.get(), "data that nothing has written");
            m.data.insert(p, Rc::new(loom::cell::UnsafeCell::new(())));
        }
        m.data[&p].clone()
    })
}

fn semaphore(who: c_int) -> Rc<(Mutex<bool>, Condvar)> {
    MEMORY.with(|m| m.borrow().semaphores[who as usize].clone())
}

/// The values of memory_order in gcc and clang.
fn order(o: c_int) -> Ordering {
    match o {
        0 => Ordering::Relaxed,
        1 | 2 => Ordering::Acquire,
        3 => Ordering::Release,
        4 => Ordering::AcqRel,
        _ => Ordering::SeqCst,
    }
}

#[no_mangle]
extern "C-unwind" fn m_load(p: usize, o: c_int, size: c_int) -> u64 {
    let v = with_size!(atomic(p, size, false), a, _T, a.load(order(o)) as u64);
    trace("load", p, o, v);
    v
}

#[no_mangle]
extern "C-unwind" fn m_store(p: usize, v: u64, o: c_int, size: c_int) {
    with_size!(atomic(p, size, true), a, T, a.store(v as T, order(o)));
    trace("store", p, o, v);
}

#[no_mangle]
extern "C-unwind" fn m_cas(p: usize, e: *mut u64, d: u64, o: c_int, size: c_int) -> c_int {
    let expected = unsafe { *e };
    let found = with_size!(
        atomic(p, size, false),
        a,
        T,
        a.compare_exchange(expected as T, d as T, order(o), Ordering::Relaxed)
            .map_err(|f| f as u64)
            .err()
    );
    match found {
        None => {
            trace("cas", p, o, d);
            1
        }
        Some(f) => {
            trace("cas not", p, o, f);
            unsafe { *e = f };
            0
        }
    }
}

/// op: the `enum` of lockfree/atomic_model.h.
#[no_mangle]
extern "C-unwind" fn m_rmw(p: usize, op: c_int, v: u64, o: c_int, size: c_int) -> u64 {
    let (as_given, o) = (o, order(o));
    let was = with_size!(
        atomic(p, size, false),
        a,
        T,
        match op {
            0 => a.swap(v as T, o) as u64,
            1 => a.fetch_add(v as T, o) as u64,
            2 => a.fetch_sub(v as T, o) as u64,
            3 => a.fetch_or(v as T, o) as u64,
            4 => a.fetch_and(v as T, o) as u64,
            _ => panic!("unknown operation"),
        }
    );
    trace("rmw", p, as_given, was);
    was
}

#[no_mangle]
extern "C-unwind" fn m_fence(o: c_int) {
    trace("fence", 0, o, 0);
    fence(order(o))
}

#[no_mangle]
extern "C-unwind" fn m_data_write(p: usize) {
    trace("write", p, 0, 0);
    data(p, true).with_mut(|_| ())
}

#[no_mangle]
extern "C-unwind" fn m_data_read(p: usize) {
    trace("read", p, 0, 0);
    data(p, false).with(|_| ())
}

#[no_mangle]
extern "C-unwind" fn m_block(who: c_int) {
    trace("block", 0, 0, who as u64);
    let s = semaphore(who);
    let mut set = s.0.lock().unwrap();
    while !*set {
        set = s.1.wait(set).unwrap();
    }
    *set = false;
}

#[no_mangle]
extern "C-unwind" fn m_unblock(who: c_int) {
    trace("unblock", 0, 0, who as u64);
    let s = semaphore(who);
    *s.0.lock().unwrap() = true;
    s.1.notify_one();
}

/// The kernel compares and goes to sleep under the lock that a wake takes.
#[no_mangle]
extern "C-unwind" fn m_futex_wait(who: c_int, p: usize, value: u32) {
    let s = semaphore(who);
    let guard = s.0.lock().unwrap();
    if m_load(p, 0, 4) == u64::from(value) {
        drop(s.1.wait(guard).unwrap());
    }
}

#[no_mangle]
extern "C-unwind" fn m_futex_wake(who: c_int) {
    let s = semaphore(who);
    let _guard = s.0.lock().unwrap();
    s.1.notify_all();
}

#[no_mangle]
extern "C-unwind" fn m_futex_wake_one(who: c_int) {
    let s = semaphore(who);
    let _guard = s.0.lock().unwrap();
    s.1.notify_one();
}

#[no_mangle]
extern "C-unwind" fn m_yield() {
    loom::thread::yield_now()
}

#[no_mangle]
extern "C-unwind" fn m_self() -> c_int {
    WHO.with(|w| w.get())
}

#[no_mangle]
extern "C-unwind" fn m_fail(what: *const c_char) {
    panic!("{}", unsafe { CStr::from_ptr(what) }.to_string_lossy())
}

fn execute(s: &'static Scenario) {
    if unsafe { clock() } >= UNTIL.get() {
        println!("no end after {} executions", EXECUTIONS.get());
        std::process::exit(4);
    }
    EXECUTIONS.set(EXECUTIONS.get() + 1);
    STARTED.set(false);
    MEMORY.with(|m| {
        *m.borrow_mut() = Memory {
            semaphores: (0..SEMAPHORES)
                .map(|_| Rc::new((Mutex::new(false), Condvar::new())))
                .collect(),
            ..Memory::default()
        }
    });
    unsafe { s.init.expect("init")() };
    STARTED.set(true);
    let threads: Vec<_> = s.thread.iter().map_while(|t| *t).collect();
    let order = |n: usize| (n + FIRST.get()) % threads.len();
    let others: Vec<_> = (1..threads.len())
        .map(|n| {
            let (who, t) = (order(n), threads[order(n)]);
            loom::thread::spawn(move || {
                WHO.with(|w| w.set(who as c_int));
                unsafe { t() }
            })
        })
        .collect();
    WHO.with(|w| w.set(order(0) as c_int));
    unsafe { threads[order(0)]() };
    for t in others {
        t.join().unwrap();
    }
    WHO.with(|w| w.set(0));
    unsafe { s.check.expect("check")() };
    // Before loom looks for what this execution has leaked.
    MEMORY.with(|m| *m.borrow_mut() = Memory::default());
}

fn find(object: &str, scenario: &str) -> Result<&'static Scenario, String> {
    // A scenario links no more of the runtime than it calls. What it defines is its
    // own, also where this program or libc has something of that name.
    const RTLD_LAZY: c_int = 1;
    const RTLD_DEEPBIND: c_int = 8;
    let path = CString::new(object).unwrap();
    let name = CString::new(format!("scenario_{scenario}")).unwrap();
    unsafe {
        let handle = dlopen(path.as_ptr(), RTLD_LAZY | RTLD_DEEPBIND);
        let symbol = if handle.is_null() {
            handle
        } else {
            dlsym(handle, name.as_ptr())
        };
        if symbol.is_null() {
            return Err(CStr::from_ptr(dlerror()).to_string_lossy().into_owned());
        }
        Ok(&*(symbol as *const Scenario))
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()))
        .unwrap_or_else(|| "panic".into())
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args.len() < 3 {
        eprintln!("usage: weft-loom OBJECT SCENARIO [PREEMPTIONS]");
        std::process::exit(2);
    }
    let scenario = find(&args[1], &args[2]).unwrap_or_else(|e| {
        eprintln!("weft-loom: {e}");
        std::process::exit(2);
    });
    let bound = args.get(3).map(|n| n.parse().expect("a number"));
    if std::env::var_os("WEFT_VERBOSE").is_none() {
        std::panic::set_hook(Box::new(|_| ()));
    }
    if let Ok(n) = std::env::var("WEFT_MODEL_TRACE") {
        TRACED.set(n.parse().expect("a number"));
    }
    let turns = match std::env::var_os("WEFT_MODEL_TURNS") {
        Some(_) => scenario.thread.iter().map_while(|t| *t).count(),
        None => 1,
    };
    if let Ok(seconds) = std::env::var("WEFT_MODEL_SECONDS") {
        UNTIL.set((seconds.parse::<f64>().expect("seconds") * 1e6) as c_long);
    }
    let result = std::panic::catch_unwind(move || {
        for first in 0..turns {
            let mut model = loom::model::Builder::new();
            model.max_branches = 20_000;
            model.preemption_bound = bound;
            FIRST.set(first);
            model.check(move || execute(scenario));
        }
    });
    match result {
        Ok(()) => println!("holds in {} executions", EXECUTIONS.get()),
        Err(panic) => {
            let what = message(&*panic);
            let first = what.trim_start().lines().next().unwrap_or("").to_string();
            if first.contains("exceeded maximum number of branches") {
                println!("no end of execution {}", EXECUTIONS.get());
                std::process::exit(3);
            }
            println!("violation in execution {}: {}", EXECUTIONS.get(), first);
            std::process::exit(1);
        }
    }
}
