// SPDX-License-Identifier: MIT
// The scenarios are shared objects that call m_* of this program.
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-link-arg-bins=-rdynamic");
    println!("cargo:rustc-link-arg-bins=-ldl");
}
