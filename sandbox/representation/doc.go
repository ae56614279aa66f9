// Package representation sends bodies the way RFC 9110 describes representations: with a validator (ETag), in the
// content coding that the caller accepts, as 304 when the caller has it already, and without a body for HEAD.
// Bodies that stay the same are encoded once and kept in a bounded cache.
package representation
