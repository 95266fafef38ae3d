#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sudoku_stream_fuzz::web::run(data));
