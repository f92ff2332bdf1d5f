use super::*;

#[test]
fn every_format_has_one_name() {
    for format in StreamFormat::ALL {
        assert_eq!(serde_json::to_value(format).unwrap(), format.as_str());
        assert_eq!(StreamFormat::from_name(format.as_str()), Ok(format));
    }
}
