package hostile_test

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"os"
	"regexp"
	"slices"
	"time"
)

// attack is one way to be hostile.
type attack struct {
	name string
	// typical attacks represent their theme in make test.
	typical bool
	// wrap makes a correct node hostile. trap is the URL of a server that must never be called.
	wrap wrapper
	// tls serves the node over TLS with this configuration; its certificate, if it lacks one, is filled in.
	tls *tls.Config
	// frames floods connections in place of the node; it needs tls.
	frames frames
	// wire takes every accepted connection in place of the node.
	wire wire
	// registered names the node by a registry instead of its URLs.
	registered bool
	// unlisted attacks are registries without the node. The run ends as after a mistake on the command line.
	unlisted bool
	// large attacks may also end by the deadline of the run, on a busy machine.
	large   bool
	profile string // auth if empty: it has the fewest requests
	flags   []string
	// harmless attacks may end in a certificate, because their behaviour is not a fault.
	harmless bool
	// says lists words of the summary or the report that name the cause.
	says []string
	// within, if not 0, bounds the time of the run instead of the bound of all attacks. The report must then name the address that stopped
	// answering.
	within time.Duration
}

// longestHang returns how long a run may wait for a node that hangs: for three time-outs, and for the recheck of at most ten seconds. With the
// default time-out of 35 seconds that is 115 seconds, with ten it is 40.
func longestHang(timeout time.Duration) time.Duration {
	return 3*timeout + min(timeout, 10*time.Second)
}

// besideHangs is how much longer than [longestHang] such a run may take. It must end within 130 seconds, and within 50 with --timeout 10s.
const besideHangs = 10 * time.Second

// limit returns how long the run may take.
func (a attack) limit() time.Duration { return cmp.Or(a.within, deadline+extraTime) }

// codes returns the exit codes that the attack may end with.
func (a attack) codes() []int {
	switch {
	case a.unlisted && a.large:
		return []int{2, 3}
	case a.unlisted:
		return []int{2}
	case a.harmless:
		return []int{0, 1, 3}
	}
	return []int{1, 3}
}

// The bounds of every attack. A run is given a deadline, a fraction of what an operator has; extraTime is how much longer it may take on
// a busy machine.
const (
	deadline  = 12 * time.Second
	extraTime = 45 * time.Second
	memory    = 512 << 20 // bytes, of parent and child together
)

// selector is the environment variable with a regular expression on names: the attacks to run. "." takes them all, as make hostile
// does. Without it the typical ones of each theme are run, which takes a fraction of the time.
const selector = "RIN_HOSTILE"

// themes returns all attacks, grouped by what they have in common.
func themes() [][]attack {
	return [][]attack{
		endlessBodies(), compressedBodies(), brokenBodies(), slowAnswers(), headerAttacks(), redirectAttacks(), deepNesting(), badDocuments(), documentReferences(), costlyPatterns(),
		secretLeaks(), hostileTexts(), keySetAttacks(), waitDemands(), tlsAttacks(), frameFloods(), registryAttacks(),
	}
}

// attacks returns the typical attacks, or those that the environment selects.
func attacks() ([]attack, error) {
	text := os.Getenv(selector)
	if text == "" {
		return typicalAttacks()
	}
	wanted, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("%s is not a regular expression: %w", selector, err)
	}
	all := slices.DeleteFunc(slices.Concat(themes()...), func(a attack) bool { return !wanted.MatchString(a.name) })
	if len(all) == 0 {
		return nil, fmt.Errorf("%s=%s matches no attack", selector, text)
	}
	return all, nil
}

// typicalAttacks returns the typical attacks. Every theme must have one.
func typicalAttacks() ([]attack, error) {
	var sample []attack
	for _, theme := range themes() {
		typical := slices.DeleteFunc(slices.Clone(theme), func(a attack) bool { return !a.typical })
		if len(typical) == 0 {
			return nil, fmt.Errorf("no attack of the group that begins with %q is marked as typical", theme[0].name)
		}
		sample = append(sample, typical...)
	}
	return sample, nil
}
