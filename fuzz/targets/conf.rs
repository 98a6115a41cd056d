//! slurm.conf with files that include each other, through lint and through the reader of `what-if`;
//! PriorityParameters. NUL bytes separate the files: the first is slurm.conf, the others have the
//! names `1`, `2`, ...
#![no_main]

use fairtree::config::{Include, PriorityParameters};
use fairtree_lint::{Options, run_with};
use fairtree_model::input::slurm::conf;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let files: Vec<&str> = text.split('\0').collect();
    let mut fetch = |include: &Include| -> Result<String, String> {
        let number: Option<usize> = include.file.parse().ok();
        let file = number.and_then(|number| files.get(number));
        file.map(|text| (*text).to_owned())
            .ok_or_else(|| "no such file".into())
    };
    let report = run_with(files[0], "0", &Options::default(), &mut fetch);
    assert!(report.to_string().len() < 100 << 20);
    if let Ok(conf) = conf::read(files[0], "0", None, &mut fetch) {
        // A pass can run with all accepted settings.
        conf.config.validate().expect("accepted settings are valid");
    }
    if let Err(error) = PriorityParameters::parse(files[0], None) {
        assert!(!error.to_string().contains('\n'));
    }
});
