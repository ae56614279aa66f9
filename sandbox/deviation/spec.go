package deviation

import "net/http"

func specDeviations() []Deviation {
	return []Deviation{
		{
			Name:   "spec-dangling-ref",
			Why:    "The OpenAPI document refers to a schema that it does not hold, as merged documents do.",
			Breaks: []string{"SPC-04"},
			Wrap: rewrite(func(_ *http.Request, a *Answer) {
				a.editObject(func(document map[string]any) {
					components, _ := document["components"].(map[string]any)
					schemas, _ := components["schemas"].(map[string]any)
					if schemas != nil {
						schemas["Dangling"] = map[string]any{"$ref": "#/components/schemas/Missing"}
					}
				})
			}, Spec),
		},
	}
}
