package deviation

// registryDeviations break the node's registry entry.
func registryDeviations() []Deviation { return nil }
