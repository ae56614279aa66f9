package requirement

// securityHygiene lists group SEC in catalogue order.
func securityHygiene() []Requirement { return append(otherWaysIn(), issuerHygiene()...) }

// otherWaysIn are SEC-01 to SEC-04: what must not stand in for a token, and what must not come out.
func otherWaysIn() []Requirement { return nil }
