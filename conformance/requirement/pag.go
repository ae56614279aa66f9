package requirement

// paging lists group PAG in catalogue order.
func paging() []Requirement { return nil }
