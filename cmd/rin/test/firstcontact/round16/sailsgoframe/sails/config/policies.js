module.exports.policies = {
  '*': 'readOnly',
  'oauth/token': 'postOnly',
  'info/show': ['readOnly', 'hasToken'],
  'call/*': ['readOnly', 'hasToken', 'hasRole', 'strictQuery'],
  ...(process.env.NODE === 'sails-enns' ? { 'call/findone': ['readOnly', 'hasToken', 'strictQuery'] } : {}),
  'funder/*': ['readOnly', 'hasToken', 'hasRole', 'strictQuery'],
  'statistics/*': ['readOnly', 'hasToken', 'hasRole', 'strictQuery'],
};
