package probe

import (
	"context"
	"net/http"
	"slices"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
)

// This file requests a page of the list as JSON and, right after it, as CSV, if the document describes both. The page is large, because only some records
// have a text with a comma. The ways of [representations] request the URL of the good call in other forms, if the plan has room for them.

// tableMediaType is the media type of CSV (RFC 4180 §3).
const tableMediaType = "text/csv"

func tableCases() []row {
	plan := in(stageRest, stageAuthorized).inLane("table").onlyIf(notQuick).onlyIf(onList(describesTable)).onDemand()
	page := withoutSchemas(choose(largePage))
	return []row{
		{Label: "list.csv-json", Words: "before the same page as CSV", Plan: plan, Send: uncoded(page, "")},
		{Label: "list.csv", Words: "as CSV", Plan: plan, Send: uncoded(page, tableMediaType)},
	}
}

// describesTable reports whether the document describes CSV for the good answer of an operation.
func describesTable(o openapi.Operation) bool {
	key, _ := o.ResponseTo(http.StatusOK)
	return slices.ContainsFunc(o.Responses[key].MediaTypes(), func(media string) bool { return evidence.MediaType(media) == tableMediaType })
}

// largePage chooses the first page of a list, with many items.
func largePage(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
	return chosen{r.sized(o, res.URL, "", maxWalkSize), nil}, nil
}

// uncoded makes a sender that requests a media type, unless it is empty, without content coding: what compresses may mark strong tags as weak.
func uncoded(send sender, media string) sender {
	return func(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
		q, reason := send(ctx, r, at)
		setHeader(&q, "Accept-Encoding", "identity")
		if media != "" {
			setHeader(&q, "Accept", media)
		}
		return q, reason
	}
}
