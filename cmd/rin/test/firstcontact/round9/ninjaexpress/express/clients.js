'use strict';
// Clients of both authorization servers (made up for tests).
const FUNDING = 'urn:ris:nord:funding';
module.exports = {
  FUNDING,
  production: [
    { id: 'knoten-b4e1f09a6c7d4823', secret: 'Vx3RtY8uLp0QmZ7cKd5WnE2hGb9JfS4aTq6oXiPz1BvNsUr', audience: FUNDING, roles: ['EXTERNAL_API_CLIENT'], affiliation: '70031' },
    { id: 'knoten-07c9d2e5f1a84b36', secret: 'aQ7wErT3yUiO9pSdF2gHjK5lZxC8vBnM1qWeRt4YuIoP6As', audience: FUNDING, roles: [], affiliation: '70032' },
    { id: 'knoten-e83b5a1c9d4f4072', secret: 'Lk9JhG4fDsA7pOiU2yTrE6wQmN1bVcX8zLkJh3GfDsA5pOi', audience: 'urn:ris:nord:projects', roles: ['EXTERNAL_API_CLIENT'], affiliation: '70033' },
    { id: 'knoten-5f2a7b8c0e1d4996', secret: 'Zm6NxB2vCq9WeR5tYu8IoP1aSdF4gHjK7lZx3CvBnM0QwEr', audience: FUNDING, roles: ['EXTERNAL_API_CLIENT'], affiliation: '70034' },
  ],
  staging: [
    { id: 'probe-3d6e9f0a1b2c4587', secret: 'Hy5GtF2rDe8SwA1qLoK9iJu7MnB4vCxZ6pQaWs3EdRfTgYh', audience: FUNDING, roles: ['EXTERNAL_API_CLIENT'], affiliation: '99999' },
  ],
};
