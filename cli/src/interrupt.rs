//! Stub.
pub struct Polling(());
impl Polling {
    pub fn start() -> Self { Self(()) }
}
pub fn requested() -> bool { false }
