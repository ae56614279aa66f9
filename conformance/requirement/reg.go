package requirement

// registryEntry lists group REG in catalogue order.
func registryEntry() []Requirement { return nil }
