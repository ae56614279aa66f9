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

// selector is the environment variable with a regular expression on names: the habits to be certified alone. "." takes them all, as
// make benign does. Without it each habit is certified in the company of others, which finds the same in a fraction of the time.
const selector = "RIN_BENIGN"

const (
	// company is how many habits a node has that is certified for each of them.
	company = 20
	// combinations are drawn by chance, of so many habits each: a few, or many when the environment selects habits. The seed is fixed,
	// so that a failure can be seen again.
	few, many, together, seed = 2, 12, 5, 20260302
)

// node is a node with habits.
type node struct {
	name   string
	habits []fault.Deviation
	config sandbox.Config
}

// with is a good node with habits, which are given in the order of their catalogue. It has TLS where a habit is of connections.
func with(habits ...fault.Deviation) node {
	n := node{habits: habits, config: good()}
	for _, d := range habits {
		n.config.Deviations = append(n.config.Deviations, d.Name)
		if d.Transport != nil {
			n.config = overTLS(n.config)
		}
	}
	n.name = strings.Join(n.config.Deviations, " + ")
	return n
}

// apart are nodes with one of the habits each.
func (n node) apart() []node {
	var nodes []node
	for _, d := range n.habits {
		nodes = append(nodes, with(d))
	}
	return nodes
}

// waiting are habits that make a client wait for a second, or for several. They come first and alone: company would wait as well.
func waiting() []string { return []string{"cold-start", "rate-limited"} }

// chosen are nodes for every habit: alone as the environment selects them, or else in the company of others from far away in the
// catalogue, which are about something else.
func chosen() ([]node, error) {
	all := fault.Habits()
	if text := os.Getenv(selector); text != "" {
		wanted, err := regexp.Compile(text)
		if err != nil {
			return nil, fmt.Errorf("%s is no regular expression: %w", selector, err)
		}
		chosen := slices.DeleteFunc(all, func(d fault.Deviation) bool { return !wanted.MatchString(d.Name) })
		if len(chosen) == 0 {
			return nil, fmt.Errorf("%s=%s matches no habit", selector, text)
		}
		return with(chosen...).apart(), nil
	}
	var nodes []node
	all = slices.DeleteFunc(all, func(d fault.Deviation) bool {
		waits := slices.Contains(waiting(), d.Name)
		if waits {
			nodes = append(nodes, with(d))
		}
		return waits
	})
	groups := (len(all) + company - 1) / company
	for first := range groups {
		var habits []fault.Deviation
		for i := first; i < len(all); i += groups {
			habits = append(habits, all[i])
		}
		nodes = append(nodes, with(habits...))
	}
	return nodes, nil
}

// combined draws habits by chance, for nodes with TLS.
func combined() []node {
	random := rand.New(rand.NewPCG(seed, 0))
	all := fault.Habits()
	var nodes []node
	combinations := few
	if os.Getenv(selector) != "" {
		combinations = many
	}
	for range combinations {
		drawn := random.Perm(len(all))[:together]
		slices.Sort(drawn)
		var habits []fault.Deviation
		for _, i := range drawn {
			habits = append(habits, all[i])
		}
		n := with(habits...)
		n.config = overTLS(n.config)
		nodes = append(nodes, n)
	}
	return nodes
}

// switched are good nodes of which one switch is turned.
func switched() []node {
	var nodes []node
	turned := func(name string, turn func(c *sandbox.Config)) {
		n := node{name: name, config: good()}
		turn(&n.config)
		nodes = append(nodes, n)
	}
	for _, format := range auth.Formats() {
		turned("token format "+string(format), func(c *sandbox.Config) { c.TokenFormat = format })
	}
	turned("paging by number", func(c *sandbox.Config) { c.Paging = funding.PagingNumber })
	turned("errors as a text", func(c *sandbox.Config) { c.ErrorShape = content.ShapeText })
	turned("tokens for 65 seconds", func(c *sandbox.Config) { c.TokenTTL = 65 * time.Second })
	turned("tokens for an hour", func(c *sandbox.Config) { c.TokenTTL = time.Hour })
	turned("other data", func(c *sandbox.Config) { c.Seed, c.Calls = 7, 23 })
	turned("no memory of verified tokens", func(c *sandbox.Config) { c.VerifiedTokens = -1 })
	return nodes
}

// warned tells whether one of the habits earns a warning from a requirement.
func (n node) warned(id string) bool {
	return slices.ContainsFunc(n.habits, func(d fault.Deviation) bool { return slices.Contains(d.Warns, id) })
}
