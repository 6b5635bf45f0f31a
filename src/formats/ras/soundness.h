// SPDX-License-Identifier: Apache-2.0
//
// What both forms of an answer have in common once they are read: the order, and what is left of a
// communicator in an answer that shows signs of a known bug.
#pragma once

#include "model/ras.h"

namespace unhang::formats::ras {

// Ascending (hash, secondary hash), as model::RasAnswer promises.
void sort_communicators(model::RasAnswer& answer);

// Where communicators that are being made hide others (NCCL 2.27 to 2.30) and where missing ranks are mixed
// up (2.26 to 2.28), healthy ranks are said to lack a communicator: such ranks are left out, and what differs
// only by them differs no more.
void distrust(model::RasCommunicator& communicator);

}  // namespace unhang::formats::ras
