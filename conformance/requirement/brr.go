package requirement

// bearerRules lists group BRR in catalogue order.
func bearerRules() []Requirement { return nil }
