package deviation

import (
	"encoding/json"
	"strings"
)

// infoHabits are unusual things that the info resource lists.
func infoHabits() []Deviation {
	return []Deviation{
		{
			Name: "info-with-empty-families",
			Why:  "Families without endpoints are listed as empty, as nodes do that share one configuration.",
			Wrap: infos(func(info map[string]any, _ Env) {
				endpoints := member(info, "endpoints")
				endpoints["project"], endpoints["orgUnit"] = []any{}, []any{}
			}),
		},
		{
			Name: "info-with-templates",
			Why:  "Endpoints of single records are listed with a template in their URL, under names that no vocabulary has, as a node of the network does.",
			Wrap: infos(func(info map[string]any, env Env) {
				endpoints := member(info, "endpoints")
				funding, _ := endpoints["funding"].([]any)
				for _, name := range []string{"FUNDING_BY_KEY", "CALLS"} {
					funding = append(funding, map[string]any{
						"name": name, "majorVersion": 3, "minorVersion": 12, "url": strings.TrimSuffix(firstURL(info), "/") + "/{fundingId}",
					})
				}
				endpoints["funding"] = funding
			}),
		},
		{
			Name: "info-with-more-members",
			Why:  "The info resource tells name, contact, build and links of the node beside its endpoints, as health pages do.",
			Wrap: infos(func(info map[string]any, _ Env) {
				info["name"], info["build"], info["contact"] = "Universität Musterstadt", map[string]any{"commit": "1f2e3d4"}, nil
				for _, endpoint := range objects(member(info, "endpoints"), "funding") {
					endpoint["description"], endpoint["deprecated"] = "Ausschreibungen", false
				}
			}),
		},
		{
			Name: "info-versions-with-fraction",
			Why:  "The versions are 3.0 and 0.0, as languages write whole numbers that know one kind of number.",
			Wrap: infos(func(info map[string]any, _ Env) {
				for _, endpoint := range objects(member(info, "endpoints"), "funding") {
					for _, name := range []string{"majorVersion", "minorVersion"} {
						if version, ok := endpoint[name].(json.Number); ok {
							endpoint[name] = json.Number(version.String() + ".0")
						}
					}
				}
			}),
		},
	}
}
