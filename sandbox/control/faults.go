package control

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/fault"
)

// Deviations lists the names of the deviations of one node, the outermost first.
type Deviations struct {
	Deviations []string `json:"deviations"`
}

func deviationRoutes(network *sandbox.Network) []route {
	return []route{
		{"PUT /nodes/{node}/deviations", changeNode(network, func(node *sandbox.Server, r *http.Request) error {
			wanted, err := read[Deviations](r)
			if err != nil {
				return err
			}
			if err := node.Deviate(wanted.Deviations...); err != nil {
				return badRequest(err, "rin sandbox --deviations lists them")
			}
			return nil
		})},
	}
}

// Deviate replaces the deviations of a node.
func (c Client) Deviate(node string, names ...string) (Node, error) {
	return call[Node](c, http.MethodPut, "/nodes/"+url.PathEscape(node)+"/deviations", Deviations{Deviations: names})
}

// Play is a scenario with options. An option that is not set has the value that the scenario defines.
type Play struct {
	Name string `json:"name"`
	// Client limits the scenario to the client with this id. Without it, the scenario applies to all clients.
	Client string `json:"client,omitempty"`
	// Path limits the requests to a path and all below it, or to a kind: token, info, list, ...
	Path string `json:"path,omitempty"`
	// Times is the number of faults for each client.
	Times int `json:"times,omitempty"`
	// Wait is the duration that the scenario uses, for a pause or in Retry-After, as a Go duration: "1s".
	Wait string `json:"wait,omitempty"`
}

// Scenario is a running scenario.
type Scenario struct {
	Play
	// Struck is the number of faults so far, by client id; "" stands for callers without a valid token.
	Struck map[string]int `json:"struck"`
}

func scenarioRoutes(network *sandbox.Network) []route {
	return []route{
		{"POST /nodes/{node}/scenarios", changeNode(network, func(node *sandbox.Server, r *http.Request) error {
			wanted, err := read[Play](r)
			if err != nil {
				return err
			}
			p := fault.Play{Name: wanted.Name, Client: wanted.Client, Path: wanted.Path, Times: wanted.Times}
			if wanted.Wait != "" {
				if p.Wait, err = time.ParseDuration(wanted.Wait); err != nil {
					return badRequest(fmt.Errorf("wait is not a duration: %w", err), "write a number and a unit: 1s, 500ms")
				}
			}
			if err := node.Play(p); err != nil {
				return badRequest(err, "rin sandbox --scenarios lists them, and what each strikes")
			}
			return nil
		})},
		{"DELETE /nodes/{node}/scenarios", changeNode(network, func(node *sandbox.Server, r *http.Request) error {
			if err := node.Stop(r.URL.Query()["name"]...); err != nil {
				return badRequest(err, "rin sandbox status lists the running ones")
			}
			return nil
		})},
	}
}

// runningScenarios lists the running scenarios of a node.
func runningScenarios(node *sandbox.Server) []Scenario {
	all := []Scenario{}
	for _, s := range node.Scenarios() {
		running := Scenario{Play: Play{Name: s.Name, Client: s.Client, Path: s.Path, Times: s.Times}, Struck: s.Struck}
		if s.Wait > 0 {
			running.Wait = s.Wait.String()
		}
		all = append(all, running)
	}
	return all
}

// Play begins a scenario at a node. A running scenario restarts.
func (c Client) Play(node string, p Play) (Node, error) {
	return call[Node](c, http.MethodPost, "/nodes/"+url.PathEscape(node)+"/scenarios", p)
}

// Stop ends the named scenarios at a node, or all without names.
func (c Client) Stop(node string, names ...string) (Node, error) {
	path := "/nodes/" + url.PathEscape(node) + "/scenarios"
	if len(names) > 0 {
		path += "?" + url.Values{"name": names}.Encode()
	}
	return call[Node](c, http.MethodDelete, path, nil)
}
