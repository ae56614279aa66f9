// Package step has a screen for each step of the walk. A screen asks the walk to act, and shows the scene that comes of it: why, what was
// sent, what came back, and the verdict. The application around it decides which screen is seen.
package step
