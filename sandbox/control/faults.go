package control

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
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
			message, err := read[Deviations](r)
			if err != nil {
				return err
			}
			if err := node.Deviate(message.Deviations...); err != nil {
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

// Play is a scenario with options, as [fault.Play]. An option that is not set has the value that the scenario defines. Durations are Go durations: "1s".
type Play struct {
	Name   string  `json:"name"`
	Client string  `json:"client,omitempty"`
	Path   string  `json:"path,omitempty"`
	Method string  `json:"method,omitempty"`
	Times  int     `json:"times,omitempty"`
	Wait   string  `json:"wait,omitempty"`
	Jitter string  `json:"jitter,omitempty"`
	After  int     `json:"after,omitempty"`
	Every  int     `json:"every,omitempty"`
	Rate   float64 `json:"rate,omitempty"`
	Status int     `json:"status,omitempty"`
	Body   string  `json:"body,omitempty"`
}

// readPlay reads a play. Every option that is present goes through [fault.Play.Set], so that a value like "times": 0 is refused and not taken for absent.
func readPlay(r *http.Request) (fault.Play, error) {
	message, err := read[map[string]any](r)
	if err != nil {
		return fault.Play{}, err
	}
	name, _ := message["name"].(string)
	p := fault.Play{Name: name}
	for _, option := range slices.Sorted(maps.Keys(message)) {
		if option == "name" {
			continue
		}
		text, isText := message[option].(string)
		if number, isNumber := message[option].(float64); isNumber {
			text = strconv.FormatFloat(number, 'f', -1, 64)
		} else if !isText {
			return p, badRequest(fmt.Errorf("%s: expected a text or a number", option), "rin sandbox --scenarios lists the scenarios, and GET /openapi.json describes their options")
		}
		if err := p.Set(option, text); err != nil {
			return p, badRequest(err, "rin sandbox --scenarios lists the scenarios, and GET /openapi.json describes their options")
		}
	}
	return p, nil
}

// Scenario is a running scenario.
type Scenario struct {
	Play
	// Strikes is the number of faults so far, by client id; "" stands for callers without a valid token.
	Strikes map[string]int `json:"struck"`
}

func scenarioRoutes(network *sandbox.Network) []route {
	return []route{
		{"POST /nodes/{node}/scenarios", changeNode(network, func(node *sandbox.Server, r *http.Request) error {
			p, err := readPlay(r)
			if err != nil {
				return err
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
		p := s.Play
		all = append(all, Scenario{Strikes: s.Strikes, Play: Play{
			Name: p.Name, Client: p.Client, Path: p.Path, Method: p.Method, Times: p.Times, Wait: durationText(p.Wait), Jitter: durationText(p.Jitter),
			After: p.After, Every: p.Every, Rate: p.Rate, Status: p.Status, Body: p.Body,
		}})
	}
	return all
}

// durationText returns a duration as text; "" for none.
func durationText(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
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
