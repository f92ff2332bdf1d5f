use super::*;

#[test]
fn depth_is_found_without_recursion() {
    assert_eq!(depth(&serde_json::json!([1, {"a": [[]]}])), 4);
    assert_eq!(depth(&serde_json::json!("x")), 0);
}
