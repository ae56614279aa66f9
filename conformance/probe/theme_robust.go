package probe

// robust plans odd input (ROB).
func robust() theme { return theme{} }
