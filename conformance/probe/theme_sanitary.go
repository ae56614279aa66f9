package probe

// sanitary plans other ways in, error shapes and unknown versions (SEC, ERR, VER).
func sanitary() theme { return theme{} }
