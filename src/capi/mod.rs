//! The C ABI over the engine.
