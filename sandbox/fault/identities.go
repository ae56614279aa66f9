package fault

import "time"

// The faults in this file identify records by the member nummer instead of id.

// identityDeviations are wrong answers with records that nummer identifies.
func identityDeviations() []Deviation {
	return []Deviation{
		{Name: "another-state-by-number", Breaks: []string{"PAG-08"},
			Why: "Records have the member nummer and no id, and the times in the detail are two hours later than in the list.",
			Wrap: both(numberedRecords(), editDetail(func(record map[string]any) {
				for _, name := range []string{"startDate", "endDate"} {
					if at, err := time.Parse(time.RFC3339, text(record[name])); err == nil {
						record[name] = at.UTC().Add(2 * time.Hour).Format(time.RFC3339)
					}
				}
			}))},
	}
}

// identityHabits are correct answers with records that nummer identifies.
func identityHabits() []Deviation {
	return []Deviation{
		{Name: "records-by-number",
			Why:  "Records have the member nummer and no id; the document names it where it describes the path of the detail.",
			Wrap: numberedRecords()},
	}
}

// numberedRecords makes a wrap that renames the id of each record to nummer, and describes nummer in the document.
func numberedRecords() wrap {
	return both(
		editRecords(func(record map[string]any) {
			record["nummer"] = record["id"]
			delete(record, "id")
		}),
		editDocument(func(d apiDocument) {
			for _, name := range []string{"Call", "Programme", "OtherFunding"} {
				schema := member(d.schemas(), name)
				properties := member(schema, "properties")
				properties["nummer"] = properties["id"]
				delete(properties, "id")
				required, _ := schema["required"].([]any)
				for i := range required {
					if required[i] == "id" {
						required[i] = "nummer"
					}
				}
				delete(schema, "example")
			}
			for _, o := range []map[string]any{d.list(), d.detail()} {
				for _, described := range member(o, "responses", "200", "content") {
					if media, ok := described.(map[string]any); ok {
						delete(media, "example")
						delete(media, "examples")
					}
				}
			}
			for _, parameter := range objects(d.detail(), "parameters") {
				if parameter["name"] == "id" {
					parameter["description"] = "The nummer of the funding, as in the list."
				}
			}
		}))
}
