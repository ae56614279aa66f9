package requirement

// GroupInfo is one group of the catalogue and how much of it this version judges.
type GroupInfo struct {
	Name    string // "TOK"
	Title   string // "Token endpoint: success"
	Size    int    // requirements of the whole catalogue
	Covered int    // those that [Catalogue] holds
}

// Groups lists all groups of the catalogue in its order, with those that this version does not cover yet.
func Groups() []GroupInfo {
	groups := []GroupInfo{
		{Name: "REG", Title: "Registry entry", Size: 6},
		{Name: "TLS", Title: "Transport", Size: 5},
		{Name: "TOK", Title: "Token endpoint: success", Size: 18},
		{Name: "TER", Title: "Token endpoint: errors", Size: 12},
		{Name: "BRR", Title: "Bearer rules on protected resources", Size: 19},
		{Name: "INF", Title: "Info endpoint", Size: 7},
		{Name: "SPC", Title: "Specification document", Size: 10},
		{Name: "API", Title: "Operations against the specification", Size: 8},
		{Name: "PAG", Title: "Paging, filters, list to detail", Size: 10},
		{Name: "ERR", Title: "Error shapes of the API", Size: 4},
		{Name: "SEC", Title: "Security hygiene", Size: 7},
		{Name: "VER", Title: "Versioning", Size: 3},
		{Name: "JWT", Title: "Access token content", Size: 11},
		{Name: "ISO", Title: "Isolation between nodes and environments", Size: 3},
		{Name: "ROB", Title: "Robustness", Size: 7},
	}
	covered := map[string]int{}
	for _, r := range Catalogue() {
		covered[r.ID.Group()]++
	}
	for i := range groups {
		groups[i].Covered = covered[groups[i].Name]
	}
	return groups
}
