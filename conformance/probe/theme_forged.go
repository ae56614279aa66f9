package probe

// forged plans forged and foreign tokens (JWT, ISO).
func forged() theme { return theme{} }
