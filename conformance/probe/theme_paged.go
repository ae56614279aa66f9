package probe

// paged plans pages, filters and details (PAG).
func paged() theme { return theme{} }
