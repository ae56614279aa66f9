// Package described serves any API from its OpenAPI document: every operation, with generated answers that fit the document.
//
//	request -> template of the path -> guard -> parameters and body against their schemas -> answer
//
// An answer is a function of the document, the seed and the request: the same in any order and after any restart. Nothing that a client
// sends is kept.
//
// # Lists and details
//
// A GET whose success is an array is a list, and so is one with an object around a single array of objects, when that is called items,
// data, results or alike, or as the path, or when there are pages or a detail. It has as many items as the options say, in a stable order
// (fewer when the schema allows no more, when there are no more ids, or at 24 MB), each with an id of its own. When the path of another GET
// is that of the list with one parameter behind it, it is the list's detail: an id of the list leads to the same record, every other one to
// 404, also below it (/funders/{id}/calls). The id is the member that is called as the parameter, else as its end (petId: id), else id,
// uuid, identifier, key or code.
//
// # Media types
//
// JSON, text, and XML by the XML Object of OpenAPI are made of the same values; where JSON is described, it is what a request without Accept
// gets. A page, picture, PDF, archive or other file whose schema says no more than that it is bytes is a small file of its type.
//
// # Query parameters
//
// A parameter of a list filters when the items have a member of its name, of its plural, of which its name is the end in camel case
// (fundingType: type), or one alone with the same referenced schema; or a member within one, both names together (funderId: funder.id).
// Items whose member equals the value, or holds it, stay. Numbers under the names that are usual for paging cut the list: limit, size,
// pageSize, per_page … with offset, skip … or page, pageNumber …. Other parameters are validated and have no effect.
//
// # Where it is
//
// An operation is at the node's service prefix, followed by the path of its server's URL, followed by its own path; segments at the seam
// that are the same are there once. The host of the server's URL means nothing.
package described
