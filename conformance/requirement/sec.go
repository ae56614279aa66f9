package requirement

// securityHygiene lists group SEC in catalogue order.
func securityHygiene() []Requirement { return nil }
