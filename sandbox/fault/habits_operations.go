package fault

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
)

// operationHabits are unusual operations beside the list, which answer what the document describes.
func operationHabits() []Deviation {
	return []Deviation{
		{Name: "nothing-at-the-moment", Warns: []string{"API-01"},
			Why:  "An operation for the call of the month answers 404 while there is none, as the document says.",
			Wrap: serveOperation("call-of-the-month", "The call of the month", map[string]any{"200": plainResponse("The call."), "404": problemResponse()}, problem(http.StatusNotFound, "there is none at the moment"))},
		{Name: "operation-planned", Warns: []string{"API-01"},
			Why:  "An operation that is planned answers 501, as the document says: a stub of a code generator.",
			Wrap: serveOperation("recommendations", "Planned for the next release", map[string]any{"200": plainResponse("Calls."), "501": problemResponse()}, problem(http.StatusNotImplemented, "not yet"))},
		{Name: "users-only",
			Why:  "An operation about the user who is signed in answers 409 to a service account, as the document says.",
			Wrap: serveOperation("users/me", "The user who is signed in", map[string]any{"200": plainResponse("The user."), "409": problemResponse()}, problem(http.StatusConflict, "a service account is not a user"))},
		{Name: "redirect-described",
			Why: "An operation for the newest funding redirects to it with 303, as the document says, and describes no other success.",
			Wrap: serveOperation("newest", "Redirects to the newest funding", map[string]any{"303": map[string]any{"description": "Its address."}}, func(a *answer) {
				a.become(http.StatusSeeOther, "", "")
				a.set("Location", a.env.Places.Fundings()+"/XF-00000003")
			})},
		{Name: "event-stream",
			Why: "An operation sends events, and its connection stays open, as the document says.",
			Wrap: both(describeOperation("events", "Changes, as server-sent events", map[string]any{
				"200": map[string]any{"description": "Events.", "content": map[string]any{"text/event-stream": map[string]any{"schema": schema{"type": "string"}}}}}),
				interceptPath("/funding/v3/events", func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
					a := capture(next, withPath(r, env.Places.Info()))
					if !a.ok() || !isRead(r) {
						a.send(w, r)
						return
					}
					w.Header().Set("Content-Type", "text/event-stream")
					w.Header().Set("Cache-Control", "no-store")
					if r.Method == http.MethodHead {
						return
					}
					fmt.Fprint(w, "event: hello\ndata: {}\n\n")
					if http.NewResponseController(w).Flush() == nil {
						<-r.Context().Done()
					}
				}))},
		{Name: "funder-without-a-list",
			Why:  "The node describes an operation for one funder and no list of funders: clients know the ids from the calls.",
			Wrap: serveFunder("funderId", schema{"type": "string"})},
		{Name: "funder-by-plain-id",
			Why:  "The node describes an operation for one funder by a parameter id with a pattern, and no list of funders.",
			Wrap: serveFunder("id", schema{"type": "string", "pattern": "^XO-[0-9]+$"})},
	}
}

// plainResponse describes a response whose body is any JSON object.
func plainResponse(description string) map[string]any {
	return map[string]any{"description": description, "content": jsonContent()}
}

// describeOperation makes a wrap that describes an operation beside the list.
func describeOperation(name, summary string, responses map[string]any) wrap {
	return editDocument(func(d apiDocument) {
		all := maps.Clone(responses)
		all["default"] = problemResponse()
		d.at("paths")["/funding/v3/"+name] = map[string]any{"get": map[string]any{"operationId": "beside-" + name, "summary": summary, "responses": all}}
	})
}

// serveOperation makes a wrap that describes and serves an operation beside the list, which needs a token like the info resource.
func serveOperation(name, summary string, responses map[string]any, answerWith change) wrap {
	return both(describeOperation(name, summary, responses), interceptPath("/funding/v3/"+name, func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, withPath(r, env.Places.Info()))
		a.env = env
		if a.ok() {
			answerWith(a)
		}
		a.send(w, r)
	}))
}

// serveFunder makes a wrap that describes and serves funders by their ids, under a path parameter with this name and schema.
func serveFunder(parameter string, s schema) wrap {
	const path = "/funding/v3/funders/"
	return both(editDocument(func(d apiDocument) {
		d.at("paths")[path+"{"+parameter+"}"] = map[string]any{"get": map[string]any{"operationId": "funder", "summary": "A funder of calls",
			"parameters": []any{map[string]any{"name": parameter, "in": "path", "required": true, "schema": s}},
			"responses":  map[string]any{"200": plainResponse("The funder."), "default": problemResponse()}}}
	}), func(next http.Handler, env Env) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			id, fits := strings.CutPrefix(r.URL.Path, env.Places.API()+path)
			if !fits {
				next.ServeHTTP(w, r)
				return
			}
			list := withoutPaging(withPath(r, env.Places.Fundings()))
			if isRead(r) {
				list.Method = http.MethodGet // HEAD gives no records
			}
			a := capture(next, list)
			if a.ok() && isRead(r) {
				funder := findFunder(a.items(), id)
				a.Body, _ = json.Marshal(funder) // cannot fail: it was decoded from JSON
				a.set("Link", "")
				a.set("Content-Length", "") // of the list
				if funder == nil {
					problem(http.StatusNotFound, "no such funder")(a)
				}
			}
			a.send(w, r)
		})
	})
}

// findFunder returns the funder with an id in the fundings, or nil.
func findFunder(fundings []map[string]any, id string) map[string]any {
	for _, funding := range fundings {
		for _, role := range objects(funding, "funder") {
			if funder := member(role, "funder"); text(funder["id"]) == id {
				return funder
			}
		}
	}
	return nil
}
