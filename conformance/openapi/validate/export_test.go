package validate

import "github.com/rin-network/rin/conformance/evidence"

// Structure compares a reduced document, from which the guard removed nothing, with its meta-schema.
func Structure(reduced []byte) (faults []string, err error) {
	return structure(evidence.Document{Reduced: reduced})
}
