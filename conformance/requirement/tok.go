package requirement

// tokenSuccess lists group TOK in catalogue order.
func tokenSuccess() []Requirement { return nil }
