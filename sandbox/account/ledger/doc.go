// Package ledger keeps the books of accounts in a file, so that a step that was acknowledged outlives the process, whenever and however that
// ends. The file is a bbolt database: one process at a time has it open, and each change is on the disk, all of it or nothing, before it
// counts. Secrets are in it as salted hashes only.
package ledger
