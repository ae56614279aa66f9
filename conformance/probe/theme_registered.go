package probe

// registered plans what the registry entry promises (REG).
func registered() theme { return theme{} }
