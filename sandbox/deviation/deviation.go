package deviation

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/rin-network/rin/sandbox/spelling"
	"github.com/rin-network/rin/sandbox/transport"
)

// Deviation is one way to misbehave, or a benign one: an unusual way to behave well.
type Deviation struct {
	// Name is what an operator types, in kebab case.
	Name string
	// Why says in one sentence what goes wrong, or what is unusual, and where it is seen in the field.
	Why string
	// Breaks lists the ids of the requirements that get worse; none for a benign deviation.
	Breaks []string
	// Warns lists the ids of the requirements that a benign deviation earns a warning from, and nothing worse.
	Warns []string
	// Wrap puts the deviation before the node's handler; nil for one of connections alone.
	Wrap func(next http.Handler, env Env) http.Handler
	// Transport changes how the node offers TLS; nil for a deviation of requests. A node without TLS cannot have one.
	Transport func(*transport.Settings)
}

// All lists every deviation that breaks something, group by group. [Benign] lists the others.
func All() []Deviation {
	return slices.Concat(
		tokenDeviations(), lifetimeDeviations(), tokenRequestDeviations(), refusalDeviations(), grantDeviations(),
		challengeDeviations(), bearerDeviations(), detourDeviations(), roleDeviations(),
		infoDeviations(), specDeviations(), operationDeviations(), recordDeviations(), listDeviations(), versionDeviations(),
		registryDeviations(), transportDeviations(), claimDeviations(), publicationDeviations(), forgeryDeviations(), isolationDeviations(), hygieneDeviations(),
		errorDeviations(), robustnessDeviations(), parameterDeviations(), pagingDeviations(),
	)
}

// Find returns the deviation with the name. Its error names the deviations that are spelled nearly so.
func Find(name string) (Deviation, error) {
	for _, d := range slices.Concat(All(), Benign()) {
		if d.Name == name {
			return d, nil
		}
	}
	return Deviation{}, fmt.Errorf("deviation %q is unknown: %s", name, spelling.Suggest(name, Names()))
}

// Names lists the names of all deviations, the benign ones last.
func Names() []string {
	var names []string
	for _, d := range slices.Concat(All(), Benign()) {
		names = append(names, d.Name)
	}
	return names
}
