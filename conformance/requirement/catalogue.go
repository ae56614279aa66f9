package requirement

// Version is the version of the catalogue; it changes with every change of a judgement.
const Version = "1.0.0"

// Size is the number of requirements of the whole catalogue; [Catalogue] holds the part that is judged by this version.
const Size = 130

// Catalogue lists the requirements of this version in catalogue order. Each call returns a fresh slice.
func Catalogue() []Requirement {
	var all []Requirement
	for _, group := range [][]Requirement{
		registryEntry(), transport(), tokenSuccess(), tokenErrors(), bearerRules(), infoEndpoint(), specification(), operations(), paging(),
		errorShapes(), securityHygiene(), versioning(), tokenContent(), isolation(), robustness(),
	} {
		all = append(all, group...)
	}
	return all
}

// Find returns the requirement with that id.
func Find(id ID) (Requirement, bool) {
	for _, r := range Catalogue() {
		if r.ID == id {
			return r, true
		}
	}
	return Requirement{}, false
}
