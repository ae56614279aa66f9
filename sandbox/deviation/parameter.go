package deviation

// parameterDeviations break parameters at their bounds, and the document's promises about them.
func parameterDeviations() []Deviation { return nil }
