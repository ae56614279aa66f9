package benign_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/fault"
	"github.com/rin-network/rin/sandbox/funding"
)

// selector is the environment variable with a regular expression on names: each of these habits gets a node of its own. "." selects all, as
// make benign does. Without it each node has several habits, which finds the same in a fraction of the time.
const selector = "RIN_BENIGN"

const (
	// habitsPerNode is the number of habits that a node has without the selector.
	habitsPerNode = 20
	// Combinations are drawn at random: a few, or many when the environment selects habits. The seed is fixed, so that a failure can be
	// repeated.
	fewCombinations, manyCombinations, habitsPerCombination, seed = 2, 12, 5, 20260302
)

// node is a node with habits.
type node struct {
	name   string
	habits []fault.Deviation
	config sandbox.Config
}

// newNode makes a good node with habits, given in the order of their catalogue. It has TLS if a habit needs it.
func newNode(habits ...fault.Deviation) node {
	n := node{habits: habits, config: goodConfig()}
	for _, d := range habits {
		n.config.Deviations = append(n.config.Deviations, d.Name)
		if d.Transport != nil {
			n.config = withTLS(n.config)
		}
	}
	n.name = strings.Join(n.config.Deviations, " + ")
	return n
}

// apart returns a node for each of the habits.
func (n node) apart() []node {
	var nodes []node
	for _, d := range n.habits {
		nodes = append(nodes, newNode(d))
	}
	return nodes
}

// solitaryHabits returns habits that get a node of their own, because they would disturb other habits: they make a client wait for seconds,
// shorten or change the list, or make tokens so long that a node with another habit refuses the request.
func solitaryHabits() []string {
	return []string{"cold-start", "answers-after-a-second", "list-with-one-item", "list-that-grows", "list-per-page-that-grows", "token-with-many-groups", "rate-limited", "busy-now-and-then", "rate-limited-by-page", "rate-limited-without-retry-after"}
}

// nodesWithHabits returns nodes for every habit, or a node for each habit that the environment selects. Habits of one node are far apart in the
// catalogue, so that they concern different things.
func nodesWithHabits() ([]node, error) {
	all := fault.Habits()
	if text := os.Getenv(selector); text != "" {
		wanted, err := regexp.Compile(text)
		if err != nil {
			return nil, fmt.Errorf("%s is not a regular expression: %w", selector, err)
		}
		chosen := slices.DeleteFunc(all, func(d fault.Deviation) bool { return !wanted.MatchString(d.Name) })
		if len(chosen) == 0 {
			return nil, fmt.Errorf("%s=%s matches no habit", selector, text)
		}
		return newNode(chosen...).apart(), nil
	}
	var nodes []node
	all = slices.DeleteFunc(all, func(d fault.Deviation) bool {
		waits := slices.Contains(solitaryHabits(), d.Name)
		if waits {
			nodes = append(nodes, newNode(d))
		}
		return waits
	})
	groups := (len(all) + habitsPerNode - 1) / habitsPerNode
	for first := range groups {
		var habits []fault.Deviation
		for i := first; i < len(all); i += groups {
			if clashes(habits, all[i].Name) {
				nodes = append(nodes, newNode(all[i]))
				continue
			}
			habits = append(habits, all[i])
		}
		nodes = append(nodes, newNode(habits...))
	}
	return nodes, nil
}

// clashes reports whether a habit makes a node wrong together with one of the others, such as a firewall that refuses the ids of its own node. The
// habits in foreign change names, pages or ids that other habits of lists and records look for.
func clashes(habits []fault.Deviation, name string) bool {
	foreign := []string{"list-in-german", "list-in-irish", "records-by-number", "deadlines-on-small-pages"}
	if len(habits) > 0 && (slices.Contains(foreign, name) || slices.Contains(foreign, habits[0].Name)) {
		return true
	}
	pairs := [][2]string{
		{"list-sortable-by-deadline", "closing-moments-with-any-offset"},
		{"list-sortable-by-deadline", "instants-with-any-offset"},
		{"list-sortable-by-deadline", "deadlines-by-days-of-vienna"},
		{"list-sortable-by-deadline", "deadlines-before-the-day"},
		{"list-sortable-by-deadline", "far-days-refused"},
		{"list-sortable-by-deadline", "exchanged-range-refused"},
		{"list-sortable-by-deadline", "list-sortable"},
		{"list-sortable-by-deadline", "list-sortable-in-own-words"},
		{"scopes-by-resource", "token-remembered"},
		{"ids-with-slash", "firewall-blocks-odd-input"},
		{"ids-with-slash", "odd-paths-refused"},
		{"one-id-with-slash", "firewall-blocks-odd-input"},
		{"one-id-with-slash", "odd-paths-refused"},
		{"clock-some-seconds-ahead", "header-names-in-capitals"},
		{"filters-take-several-values", "list-in-described-envelope"},
		{"filters-take-several-values", "list-by-cursor-without-empty-pages"},
		{"filters-take-several-values", "list-per-page"},
		{"page-size-cut", "list-sortable"},
		{"page-size-cut", "list-sortable-by-deadline"},
		{"items-link-to-neighbours", "ids-with-odd-characters"},
		{"page-size-cut", "list-sortable-in-own-words"},
		{"list-with-counts", "list-sortable"},
		{"list-with-counts", "list-sortable-by-deadline"},
		{"list-with-counts", "list-sortable-in-own-words"},
		{"content-delivery-network", "document-kept-by-cache"},
		{"header-names-in-lower-case", "document-kept-by-cache"},
		{"header-names-in-capitals", "document-kept-by-cache"},
		{"filters-joined-by-or", "list-per-page"},
		{"filters-joined-by-or", "list-by-cursor"},
		{"filters-joined-by-or", "list-sortable"},
		{"filters-joined-by-or", "list-sortable-by-deadline"},
		{"filters-joined-by-or", "list-sortable-in-own-words"},
		{"funders-with-ampersand", "list-by-cursor"},
		{"funders-with-ampersand", "list-by-cursor-to-an-empty-page"},
		{"funders-with-ampersand", "list-by-cursor-without-empty-pages"},
		{"filters-joined-by-or", "list-by-cursor-without-empty-pages"},
		{"filters-joined-by-or", "list-by-cursor-to-an-empty-page"},
		{"list-in-described-envelope", "list-by-cursor-to-an-empty-page"},
		{"filters-take-several-values", "bad-cursor-is-none"},
		{"filters-joined-by-or", "bad-cursor-is-none"},
		{"list-in-described-envelope", "bad-cursor-is-none"},
		{"list-per-page", "bad-cursor-is-none"},
		{"list-by-cursor", "bad-cursor-is-none"},
		{"list-that-moves", "bad-cursor-is-none"},
		{"unknown-parameters-refused", "deadlines-by-days-of-vienna"},
		{"unknown-parameters-refused", "deadlines-before-the-day"},
		{"unknown-parameters-refused", "far-days-refused"},
		{"unknown-parameters-refused", "list-needs-caller"},
		{"head-not-allowed", "statistics-of-all-records"},
		{"list-that-moves", "list-by-cursor"},
		{"list-that-moves", "list-by-cursor-to-an-empty-page"},
		{"list-that-moves", "list-by-cursor-without-empty-pages"},
		{"unknown-parameters-refused", "exchanged-range-refused"},
		{"unknown-parameters-refused", "filter-by-unnamed-member"},
		{"unknown-parameters-refused", "parameter-for-the-log"},
		{"unknown-parameters-refused", "view-of-a-record"},
		{"unknown-parameters-refused", "default-sent-in-words"},
		{"unknown-parameters-refused", "list-per-page"},
		{"unknown-parameters-refused", "list-by-cursor"},
		{"unknown-parameters-refused", "list-by-cursor-without-empty-pages"},
		{"list-in-described-envelope", "list-per-page"},
		{"unknown-parameters-refused", "parameter-for-statistics"},
		{"unknown-parameters-refused", "parameter-explained-by-the-operation"},
		{"unknown-parameters-refused", "level-with-those-below"},
		{"unknown-parameters-refused", "state-of-a-day"},
		{"parameter-for-statistics", "parameter-explained-by-the-operation"},
		{"unknown-parameters-refused", "list-by-cursor-to-an-empty-page"},
		{"unknown-parameters-refused", "funder-expanded"},
		{"deadlines-by-days-of-vienna", "far-days-refused"},
		{"deadlines-by-days-of-vienna", "deadlines-before-the-day"},
		{"deadlines-before-the-day", "far-days-refused"},
		{"exchanged-range-refused", "far-days-refused"},
		{"exchanged-range-refused", "deadlines-by-days-of-vienna"},
		{"exchanged-range-refused", "deadlines-before-the-day"},
		{"exchanged-range-refused", "deadlines-on-small-pages"},
		{"unknown-parameters-refused", "list-sortable"},
		{"unknown-parameters-refused", "list-sortable-by-deadline"},
		{"unknown-parameters-refused", "list-sortable-in-own-words"},
		{"list-with-one-item", "statistics-beside-list"},
		{"list-with-one-item", "list-by-cursor-without-empty-pages"},
		{"list-that-grows", "list-by-cursor"},
		{"list-that-grows", "list-by-cursor-without-empty-pages"},
		{"list-that-grows", "list-by-cursor-to-an-empty-page"},
		{"challenge-with-escapes", "refusals-of-spring"},
		{"ids-with-odd-characters", "odd-paths-refused"},
		{"head-not-implemented", "statistics-in-groups"},
		{"head-not-implemented", "statistics-under-filters"},
		{"head-not-implemented", "funder-without-a-list"},
		{"head-not-implemented", "funder-by-plain-id"},
		{"head-not-allowed", "statistics-in-groups"},
		{"head-not-allowed", "statistics-under-filters"},
		{"head-not-allowed", "funder-without-a-list"},
		{"head-not-allowed", "funder-by-plain-id"},
		{"errors-of-the-front-server", "funder-without-a-list"},
		{"errors-of-the-front-server", "funder-by-plain-id"},
		{"redirect-described", "ids-with-slash"},
		{"head-not-implemented", "statistics-beside-list"},
		{"head-not-implemented", "funders-beside-list"},
		{"head-not-allowed", "funders-beside-list"},
		{"list-media-type-of-a-vendor", "stages-of-a-call"},
	}
	return slices.ContainsFunc(habits, func(d fault.Deviation) bool {
		return slices.Contains(pairs, [2]string{name, d.Name}) || slices.Contains(pairs, [2]string{d.Name, name})
	})
}

// nodesWithCombinations returns nodes with TLS and random habits.
func nodesWithCombinations() []node {
	random := rand.New(rand.NewPCG(seed, 0))
	all := fault.Habits()
	var nodes []node
	combinations := fewCombinations
	if os.Getenv(selector) != "" {
		combinations = manyCombinations
	}
	for range combinations {
		drawn := random.Perm(len(all))[:habitsPerCombination]
		slices.Sort(drawn)
		var habits []fault.Deviation
		for _, i := range drawn {
			if !clashes(habits, all[i].Name) {
				habits = append(habits, all[i])
			}
		}
		n := newNode(habits...)
		n.config = withTLS(n.config)
		nodes = append(nodes, n)
	}
	return nodes
}

// nodesWithSettings returns good nodes, each with one setting changed.
func nodesWithSettings() []node {
	var nodes []node
	add := func(name string, change func(c *sandbox.Config)) {
		n := node{name: name, config: goodConfig()}
		change(&n.config)
		nodes = append(nodes, n)
	}
	for _, format := range auth.Formats() {
		add("token format "+string(format), func(c *sandbox.Config) { c.TokenFormat = format })
	}
	add("paging by number", func(c *sandbox.Config) { c.Paging = funding.PagingNumber })
	add("errors as a text", func(c *sandbox.Config) { c.ErrorShape = content.ShapeText })
	add("tokens for 65 seconds", func(c *sandbox.Config) { c.TokenTTL = 65 * time.Second })
	add("tokens for an hour", func(c *sandbox.Config) { c.TokenTTL = time.Hour })
	add("other data", func(c *sandbox.Config) { c.Seed, c.Calls = 7, 23 })
	add("no memory of verified tokens", func(c *sandbox.Config) { c.VerifiedTokens = -1 })
	return nodes
}

// mustWarn reports whether one of the habits makes a requirement warn.
func (n node) mustWarn(id string) bool {
	return slices.ContainsFunc(n.habits, func(d fault.Deviation) bool { return slices.Contains(d.Warns, id) })
}
