'use strict';
// what tsc emits for decorators, to be called by hand
require('reflect-metadata');
exports.method = (cls, name, types, decorators, params = []) => {
  Reflect.defineMetadata('design:paramtypes', types, cls.prototype, name);
  Reflect.defineMetadata('design:returntype', Object, cls.prototype, name);
  params.forEach((list, i) => [].concat(list).forEach((d) => d(cls.prototype, name, i)));
  [...decorators].reverse().forEach((d) => d(cls.prototype, name, Object.getOwnPropertyDescriptor(cls.prototype, name)));
};
exports.cls = (cls, ...decorators) => decorators.forEach((d) => d(cls));
exports.prop = (cls, name, ...decorators) => decorators.forEach((d) => d(cls.prototype, name));
