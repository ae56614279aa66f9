package control

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/fault"
)

// Deviations names those of one node, the outermost first.
type Deviations struct {
	Deviations []string `json:"deviations"`
}

func deviationRoutes(network *sandbox.Network) []route {
	return []route{
		{"PUT /nodes/{node}/deviations", func(r *http.Request) (any, error) {
			node, err := nodeOf(network, r)
			if err != nil {
				return nil, err
			}
			wanted, err := read[Deviations](r)
			if err != nil {
				return nil, err
			}
			if err := node.Deviate(wanted.Deviations...); err != nil {
				return nil, badRequest(err, "rin sandbox --deviations lists them")
			}
			return describe(node), nil
		}},
	}
}

// Deviate puts the named deviations in force at a node, in the place of all others.
func (c Client) Deviate(node string, names ...string) (Node, error) {
	return call[Node](c, http.MethodPut, "/nodes/"+url.PathEscape(node)+"/deviations", Deviations{Deviations: names})
}

// Play asks for a scenario. What is left out is as the scenario has it.
type Play struct {
	Name string `json:"name"`
	// Client is the id of the one client that is struck; all are when it is empty.
	Client string `json:"client,omitempty"`
	// Path is a path with all below it, or the name of a kind of requests: token, info, list, ...
	Path string `json:"path,omitempty"`
	// Times is the number of faults for each client.
	Times int `json:"times,omitempty"`
	// Wait is how long something takes, as Go writes durations: "1s".
	Wait string `json:"wait,omitempty"`
}

// Scenario is one that is on.
type Scenario struct {
	Play
	// Struck is the number of faults by client id; the empty id is callers without a good token.
	Struck map[string]int `json:"struck"`
}

func scenarioRoutes(network *sandbox.Network) []route {
	// at makes an answer of what is done at the node that the path names.
	at := func(do func(node *sandbox.Server, r *http.Request) error) func(*http.Request) (any, error) {
		return func(r *http.Request) (any, error) {
			node, err := nodeOf(network, r)
			if err != nil {
				return nil, err
			}
			if err := do(node, r); err != nil {
				return nil, err
			}
			return describe(node), nil
		}
	}
	return []route{
		{"POST /nodes/{node}/scenarios", at(func(node *sandbox.Server, r *http.Request) error {
			wanted, err := read[Play](r)
			if err != nil {
				return err
			}
			p := fault.Play{Name: wanted.Name, Client: wanted.Client, Path: wanted.Path, Times: wanted.Times}
			if wanted.Wait != "" {
				if p.Wait, err = time.ParseDuration(wanted.Wait); err != nil {
					return badRequest(fmt.Errorf("wait is no duration: %w", err), "write a number and a unit: 1s, 500ms")
				}
			}
			if err := node.Play(p); err != nil {
				return badRequest(err, "rin sandbox --scenarios lists them, and what each strikes")
			}
			return nil
		})},
		{"DELETE /nodes/{node}/scenarios", at(func(node *sandbox.Server, r *http.Request) error {
			if err := node.Stop(r.URL.Query()["name"]...); err != nil {
				return badRequest(err, "rin sandbox status tells which are on")
			}
			return nil
		})},
	}
}

// playing lists the scenarios that are on at a node.
func playing(node *sandbox.Server) []Scenario {
	all := []Scenario{}
	for _, s := range node.Scenarios() {
		on := Scenario{Play: Play{Name: s.Name, Client: s.Client, Path: s.Path, Times: s.Times}, Struck: s.Struck}
		if s.Wait > 0 {
			on.Wait = s.Wait.String()
		}
		all = append(all, on)
	}
	return all
}

// Play begins a scenario at a node, or begins it anew.
func (c Client) Play(node string, p Play) (Node, error) {
	return call[Node](c, http.MethodPost, "/nodes/"+url.PathEscape(node)+"/scenarios", p)
}

// Stop ends the named scenarios at a node, all when none is named.
func (c Client) Stop(node string, names ...string) (Node, error) {
	path := "/nodes/" + url.PathEscape(node) + "/scenarios"
	if len(names) > 0 {
		path += "?" + url.Values{"name": names}.Encode()
	}
	return call[Node](c, http.MethodDelete, path, nil)
}
