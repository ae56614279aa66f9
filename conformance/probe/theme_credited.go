package probe

// credited plans published metadata and keys (SEC-06, JWT-08).
func credited() theme { return theme{} }
