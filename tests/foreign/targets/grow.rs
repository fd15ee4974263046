// grow COUNTED keep|replace|vector: 16 KiB 100 times a second: kept, in place of older ones, or one vector that is extended.
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::{env, thread, time::Duration};

#[inline(never)]
fn open_session(size: usize) -> Vec<u8> {
    vec![1u8; size]
}

#[inline(never)]
fn append_log(log: &mut Vec<u8>, bytes: usize) {
    log.reserve_exact(bytes); // each time by realloc
    log.resize(log.len() + bytes, 1);
}

fn main() {
    let args: Vec<String> = env::args().collect();
    let counted = File::create(&args[1]).unwrap();
    let (mut sessions, mut log) = (Vec::new(), Vec::new());
    for i in 0usize.. {
        match args[2].as_str() {
            "vector" => append_log(&mut log, 16384),
            "keep" => sessions.push(open_session(16384)),
            _ if sessions.len() < 300 => sessions.push(open_session(16384)),
            _ => sessions[i % 300] = open_session(16384),
        }
        let kept = sessions.len() * 16384 + log.len();
        counted.write_all_at(format!("{:20}", kept).as_bytes(), 0).unwrap();
        thread::sleep(Duration::from_millis(10));
    }
}
