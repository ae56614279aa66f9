package requirement

// Uncovered is a binding rule of the interface document, or a part of one, that no requirement judges.
type Uncovered struct {
	Rule Rule
	// Part names what is left out of a rule that requirements cite otherwise; empty if no requirement cites the rule.
	Part string
	// Because is the reason, in lower case and without a final dot.
	Because string
}

// UncoveredRules lists what a certificate cannot say, because nobody can see it from outside. Each rule of the interface document is cited by
// a requirement or listed here; those with a Part are both.
func UncoveredRules() []Uncovered {
	reasons := map[string]Uncovered{
		"R3":  {Part: "the reference documentation of each endpoint", Because: "the interface document does not say where it is published; open it and follow its link to the specification file"},
		"R4":  {Because: "the address of the try-out mode is not specified; try a call from the reference documentation"},
		"R5":  {Because: "who runs an authorization server cannot be seen from outside, and how is up to the node"},
		"R8":  {Part: "the staging endpoints themselves", Because: "their addresses are not recorded in the registry; ask the node's operator"},
		"R10": {Because: "clients use the token URL that is recorded, whatever its path"},
		"R16": {Because: "how an API client is created is agreed between people"},
		"R17": {Part: "the correct affiliation ID of the service account", Because: "no answer shows which affiliation is correct; the operator of the funding service compares it in its application"},
		"R18": {Because: "how access is requested is agreed between people"},
		"R19": {Part: "the secure channel for client ID and secret", Because: "credentials are handed over outside of the API"},
	}
	var out []Uncovered
	for _, rule := range InterfaceRules() {
		if u, listed := reasons[rule.Name]; listed {
			u.Rule = rule
			out = append(out, u)
		}
	}
	return out
}

// Citation returns what requirements cite the rule as: "NET-R3".
func (r Rule) Citation() string { return "NET-" + r.Name }
